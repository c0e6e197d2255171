"""What is known about English: words, their forms, noun kinds, sentences, numbers, PropBank frames."""
