"""Make a plan: store the task, end work steps, run the program's checks, pass or fail phases."""
