"""CasADi instruction lists compiled to vector code: see README.md."""
