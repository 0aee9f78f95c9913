"""What is handed over: reports to read and print, and structured reports for DICOM images."""
