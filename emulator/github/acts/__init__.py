"""What can happen on the emulated GitHub, whoever asks: a REST call, a page or a test's setup.

Each function changes the records and sends the webhook; permission is the caller's business.
"""
