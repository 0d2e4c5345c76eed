"""UNAL-32 to UNAL-36 over one channel, UNAL-37 over a channel between two tasks."""

from model.channel.properties.between_tasks import EXCHANGE as EXCHANGE
from model.channel.properties.one_channel import CHANNEL as CHANNEL
