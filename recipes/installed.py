"""Makes a program say in a sentence which package is not installed. Import it before any package."""
import os
import sys

# The packages whose modules have another name than the package, by module.
PACKAGES = {"PIL": "Pillow", "bs4": "beautifulsoup4", "cv2": "opencv-python", "dateutil": "python-dateutil", "dotenv": "python-dotenv",
            "google": "protobuf", "skimage": "scikit-image", "sklearn": "scikit-learn", "yaml": "PyYAML", "zmq": "pyzmq"}


def sentence(kind, error, trace):
    """Prints what to install if a package is missing, else the traceback of any error."""
    name = (getattr(error, "name", None) or "").split(".")[0]
    if kind is not ModuleNotFoundError or not name:
        return sys.__excepthook__(kind, error, trace)
    name = PACKAGES.get(name, name)
    program = os.path.basename(sys.argv[0])
    print(f"{program} needs the package {name}, which {sys.executable} does not have: {sys.executable} -m pip install {name} "
          "(the versions that were run: recipes/requirements.txt, recipes/requirements-student.txt)", file=sys.stderr)


sys.excepthook = sentence
