"""The event algebra and what is read off it. README.md beside this file has the mathematics on one page."""
