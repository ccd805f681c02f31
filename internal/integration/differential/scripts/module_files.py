import json, os

print(os.path.basename(json.__file__))
print(os.path.basename(os.__file__))
