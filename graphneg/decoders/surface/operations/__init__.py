"""The operations that express graph edits in words, with one module for each kind of edit.

Each operation receives the sentence and the index of the edited node, and edits the sentence in place.
It raises `RealisationError` if the edit cannot be expressed in words.

| edit | module | example |
|---|---|---|
| set a concept or constant | ``words`` | It is bigger. -> It is smaller. |
| set the concept of pronouns | ``pronouns`` | I love my dog. -> You love your dog. |
| set or add a time | ``tense`` | She goes home. -> She went home yesterday. |
| graft in place of a node | ``grafts`` | I saw the dog. -> I saw my car. |
| drop | ``removal`` | I saw it in Rome. -> I saw it. |
| add a polarity | ``negation`` | I saw it. -> I did not see it. |
| drop a polarity | ``affirmation`` | I did not see it. -> I saw it. |
| add or drop a mode | ``mood`` | You like it. -> Do you like it? |
| wrap | ``embedding`` | You like it. -> I doubt that you like it. |
| set a quantity, in a repeated sentence | ``quantifiers`` | I always go. -> You never go. |
| wrap, or add *already*, in a repeated sentence | ``modality`` | I want to go. -> You have to go. |
| say | ``restating`` | (the other speaker:) I like it. -> Why do you like it? |
| say a request or a question | ``requests``, ``questions`` | Sit down. -> You want me to sit down. |
"""
