"""What is handed over: reports to read and print, a registry entry, structured reports for DICOM images."""
