"""What is done with results and dialogues beyond scoring them: comparing, ranking, explaining, checking."""
