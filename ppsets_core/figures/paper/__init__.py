"""The figures of the paper's experiments: each module's `figures` turns a result into named plotly figures."""
