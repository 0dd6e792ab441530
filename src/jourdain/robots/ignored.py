"""What a robot file has and the library does not use: kind → names."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from jourdain.robots.mjcf_names import body_name, geom_name, joint_name, names

if TYPE_CHECKING:
    import mujoco

Ignored = Mapping[str, tuple[str, ...]]

# These act by themselves while a robot moves, so a motion without them is another one. No event sees them: finite
# forces do not act in an instant. The others act only if the user says so: contacts and limits by naming them in an
# event, actuators by a signal, keyframes and sensors not at all.
ACTING = ("springs", "damping", "friction loss", "gravity compensation", "fluid", "plugins", "flexes")
OF_JOINTS = ("springs", "damping", "friction loss", "limits")


def ignored_in_mjcf(model: mujoco.MjModel) -> dict[str, tuple[str, ...]]:
    """Of a compiled MJCF; what the file itself switches off is left out."""
    import mujoco

    def joints(*fields: str) -> tuple[str, ...]:
        return tuple(joint_name(model, int(j)) for j in _nonzero(model, *fields))

    def movers(*fields: str) -> tuple[str, ...]:
        """The joints of velocities."""
        owners = dict.fromkeys(int(model.dof_jntid[i]) for i in _nonzero(model, *fields))
        return tuple(joint_name(model, j) for j in owners)

    def tendons(*fields: str) -> tuple[str, ...]:
        return names(model, "tendon", _nonzero(model, *fields))

    touching = np.flatnonzero(model.geom_contype | model.geom_conaffinity)
    off, bits = model.opt.disableflags, mujoco.mjtDisableBit
    found = {
        "contact geoms": (tuple(geom_name(model, int(i)) for i in touching), bits.mjDSBL_CONTACT),
        "contact pairs": (names(model, "pair", range(model.npair)), bits.mjDSBL_CONTACT),
        "actuators": (names(model, "actuator", range(model.nu)), bits.mjDSBL_ACTUATION),
        "limits": (joints("jnt_limited") + tendons("tendon_limited"), bits.mjDSBL_LIMIT),
        "springs": (
            joints("jnt_stiffness", "jnt_stiffnesspoly") + tendons("tendon_stiffness", "tendon_stiffnesspoly"),
            bits.mjDSBL_SPRING,
        ),
        "damping": (
            movers("dof_damping", "dof_dampingpoly")
            + tendons("tendon_damping", "tendon_dampingpoly")
            + names(model, "actuator", _nonzero(model, "actuator_damping", "actuator_dampingpoly")),
            bits.mjDSBL_DAMPER,
        ),
        "friction loss": (movers("dof_frictionloss") + tendons("tendon_frictionloss"), bits.mjDSBL_FRICTIONLOSS),
        "gravity compensation": (
            tuple(body_name(model, int(i)) for i in _nonzero(model, "body_gravcomp")),
            bits.mjDSBL_GRAVITY,
        ),
        "fluid": (tuple(name for name in ("density", "viscosity") if getattr(model.opt, name)), 0),
        "tendons": (names(model, "tendon", range(model.ntendon)), 0),
        "flexes": (names(model, "flex", range(model.nflex)), 0),
        "plugins": (names(model, "plugin", range(model.nplugin)), 0),
        "keyframes": (names(model, "key", range(model.nkey)), 0),
        "sensors": (names(model, "sensor", range(model.nsensor)), 0),
    }
    return {kind: own for kind, (own, switch) in found.items() if own and not off & switch}


def ignored_in_urdf(spec: Any, tree: ElementTree.Element) -> dict[str, tuple[str, ...]]:
    """Of a URDF, read by MuJoCo and as XML: its dynamics, limits, collision geometry and transmissions."""
    geoms = [link_geom_name(geom) for geom in spec.geoms if geom.contype or geom.conaffinity]
    limits = {joint.get("name") for joint in tree.findall("joint[limit]")}
    transmissions = tree.findall("transmission")
    found = {
        "contact geoms": geoms,
        "actuators": [part.get("name") or f"transmission {i}" for i, part in enumerate(transmissions)],
        "limits": [joint.name for joint in spec.joints if joint.name in limits],
        "damping": [joint.name for joint in spec.joints if np.any(joint.damping)],
        "friction loss": [joint.name for joint in spec.joints if joint.frictionloss],
    }
    return {kind: tuple(own) for kind, own in found.items() if own}


def link_geom_name(geom: Any) -> str:
    """Its own; without one, "LINK geom 0" for the first of a link."""
    if geom.name:
        return str(geom.name)
    return f"{geom.parent.name} geom {[other.id for other in geom.parent.geoms].index(geom.id)}"


def acting(ignored: Ignored) -> list[str]:
    """The kinds that would change a motion."""
    return [kind for kind in ACTING if kind in ignored]


def without_joints(ignored: Ignored, joints: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """What is left if these joints are fixed."""
    kept = {
        kind: tuple(name for name in own if kind not in OF_JOINTS or name not in joints)
        for kind, own in ignored.items()
    }
    return {kind: own for kind, own in kept.items() if own}


def _nonzero(model: mujoco.MjModel, *fields: str) -> list[int]:
    """The rows that are not 0 in some of the fields; older versions of MuJoCo do not have all of them."""
    rows = [np.atleast_2d(np.asarray(getattr(model, field)).T).any(axis=0) for field in fields if hasattr(model, field)]
    return [int(i) for i in np.flatnonzero(np.any(rows, axis=0))]
