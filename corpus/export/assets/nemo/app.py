"""NeMo-Gym starts this process for the shop, which runs already: `arena env serve`, at the address in nemo_gym.yaml."""
import signal

signal.pause()
