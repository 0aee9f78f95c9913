"""The numbers behind the figures: what each experiment computes, without plotly and without Streamlit."""
