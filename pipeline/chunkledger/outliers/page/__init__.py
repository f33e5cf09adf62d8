"""The report as one HTML file that needs nothing else; the extra `page` brings what makes it."""
