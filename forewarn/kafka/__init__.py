"""The Kafka bus. kafka-python is imported in this package only."""

from forewarn.kafka.bus import KafkaBus

__all__ = ["KafkaBus"]
