def shipped():
    class E:
        def exchanges(self, attribute, windows):
            return [0.7 for w in windows]

    return E()
