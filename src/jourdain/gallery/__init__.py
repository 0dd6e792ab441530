"""Problems solved in the literature, one per file. Each function returns a Scenario (one event) or a
Hybrid (motion between events), which lists its parameters.
"""

from jourdain.gallery.ball_let_go import ball_let_go
from jourdain.gallery.ball_on_incline import ball_on_incline
from jourdain.gallery.ball_on_rough_plane import ball_on_rough_plane
from jourdain.gallery.ballistic_pendulum import ballistic_pendulum
from jourdain.gallery.bicycle import bicycle
from jourdain.gallery.block_on_corners import block_on_corners
from jourdain.gallery.bouncing_ball import bouncing_ball
from jourdain.gallery.box_dropped_flat import box_dropped_flat
from jourdain.gallery.capture import capture
from jourdain.gallery.chain import chain
from jourdain.gallery.compass_gait import compass_gait
from jourdain.gallery.cradle import cradle
from jourdain.gallery.cube import cube
from jourdain.gallery.disk_on_moving_plane import disk_on_moving_plane
from jourdain.gallery.docking import docking
from jourdain.gallery.double_pendulum import double_pendulum
from jourdain.gallery.four_bar import four_bar
from jourdain.gallery.jointed_four_bar import jointed_four_bar
from jourdain.gallery.kneed_walker import kneed_walker
from jourdain.gallery.pantograph import pantograph
from jourdain.gallery.pantograph_at_wall import pantograph_at_wall
from jourdain.gallery.particle import particle
from jourdain.gallery.percussion import percussion
from jourdain.gallery.rimless_wheel import rimless_wheel
from jourdain.gallery.rocking import rocking
from jourdain.gallery.rocking_block import rocking_block
from jourdain.gallery.rod import rod
from jourdain.gallery.rolling_disc import rolling_disc
from jourdain.gallery.rolling_sphere import rolling_sphere
from jourdain.gallery.rough_rod import rough_rod
from jourdain.gallery.round_foot_walker import round_foot_walker
from jourdain.gallery.simplest_walker import simplest_walker
from jourdain.gallery.sleigh import sleigh
from jourdain.gallery.slider_crank import slider_crank
from jourdain.gallery.sliding_sleigh import sliding_sleigh
from jourdain.gallery.step import step
from jourdain.gallery.tether import tether
from jourdain.gallery.thrown_box import thrown_box
from jourdain.gallery.torso_walker import torso_walker
from jourdain.gallery.touchdown import touchdown
from jourdain.gallery.two_balls import two_balls
from jourdain.gallery.walker import walker

__all__ = [
    "ball_let_go",
    "ball_on_incline",
    "ball_on_rough_plane",
    "ballistic_pendulum",
    "bicycle",
    "block_on_corners",
    "bouncing_ball",
    "box_dropped_flat",
    "capture",
    "chain",
    "compass_gait",
    "cradle",
    "cube",
    "disk_on_moving_plane",
    "docking",
    "double_pendulum",
    "four_bar",
    "jointed_four_bar",
    "kneed_walker",
    "pantograph",
    "pantograph_at_wall",
    "particle",
    "percussion",
    "rimless_wheel",
    "rocking",
    "rocking_block",
    "rod",
    "rolling_disc",
    "rolling_sphere",
    "rough_rod",
    "round_foot_walker",
    "simplest_walker",
    "sleigh",
    "slider_crank",
    "sliding_sleigh",
    "step",
    "tether",
    "thrown_box",
    "torso_walker",
    "touchdown",
    "two_balls",
    "walker",
]
