//! Where vehicles stand, and what instructions do to them.

use crate::PyRandom;

/// Lanes of vehicles from front to back; a vehicle is its number.
#[derive(Clone)]
pub(super) struct Lanes {
    lanes: Vec<Vec<usize>>,
    vehicles: usize,
}

/// A lane, and a position in it counted from 0 at the front.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Slot {
    pub(super) lane: usize,
    pub(super) position: usize,
}

impl Slot {
    /// The number that the prompt gives to the place: 203 is the third from the front in lane 2.
    pub(super) fn number(self) -> usize {
        (self.lane + 1) * 100 + self.position + 1
    }
}

/// The kinds of instruction, from the easiest.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    Move,
    Swap,
    Insert,
    Rotate,
    Conditional,
}

/// One end of a lane.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum End {
    Front,
    Back,
}

/// One side of a vehicle.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Side {
    Ahead,
    Behind,
}

/// An instruction.
pub(super) enum Operation {
    /// A vehicle goes to one end of a lane.
    Move { vehicle: usize, lane: usize, end: End },
    /// Two vehicles change places.
    Swap { first: usize, second: usize },
    /// A vehicle goes right beside another one.
    Insert { vehicle: usize, side: Side, other: usize },
    /// As often as `times`, the vehicle at the end `from` of a lane goes to the other end.
    Rotate { lane: usize, from: End, times: usize },
    /// One of two instructions, as a condition has it.
    Conditional { condition: Condition, then: Box<Operation>, otherwise: Box<Operation> },
}

impl Operation {
    /// The vehicle that moves, where it is one and needs no condition.
    pub(super) fn mover(&self) -> Option<usize> {
        match self {
            Self::Move { vehicle, .. } | Self::Insert { vehicle, .. } => Some(*vehicle),
            _ => None,
        }
    }
}

/// What can be true of a street.
pub(super) enum Condition {
    InLane { vehicle: usize, lane: usize },
    AtSlot { vehicle: usize, slot: Slot },
    LaneHolds { lane: usize, count: usize },
}

impl Lanes {
    /// Vehicles in lanes at random; a lane may be empty.
    pub(super) fn new(vehicles: usize, lanes: usize, rng: &mut PyRandom) -> Self {
        let mut state = Self { lanes: vec![Vec::new(); lanes], vehicles };
        let mut order: Vec<usize> = (0..vehicles).collect();
        rng.shuffle(&mut order);
        for vehicle in order {
            state.lanes[rng.index(lanes)].push(vehicle);
        }
        state
    }

    pub(super) fn lanes(&self) -> &[Vec<usize>] {
        &self.lanes
    }

    pub(super) fn slot(&self, vehicle: usize) -> Slot {
        let in_lane = |lane: &Vec<usize>| lane.iter().position(|other| *other == vehicle);
        self.lanes
            .iter()
            .enumerate()
            .find_map(|(lane, queue)| in_lane(queue).map(|position| Slot { lane, position }))
            .expect("a vehicle never leaves the street")
    }

    /// Carries out an instruction.
    pub(super) fn apply(&mut self, operation: &Operation) {
        match operation {
            Operation::Move { vehicle, lane, end } => {
                self.remove(*vehicle);
                let queue = &mut self.lanes[*lane];
                let position = if *end == End::Front { 0 } else { queue.len() };
                queue.insert(position, *vehicle);
            }
            Operation::Swap { first, second } => {
                let (one, two) = (self.slot(*first), self.slot(*second));
                self.lanes[one.lane][one.position] = *second;
                self.lanes[two.lane][two.position] = *first;
            }
            Operation::Insert { vehicle, side, other } => {
                self.remove(*vehicle);
                let Slot { lane, position } = self.slot(*other);
                self.lanes[lane].insert(position + usize::from(*side == Side::Behind), *vehicle);
            }
            Operation::Rotate { lane, from: End::Front, times } => self.lanes[*lane].rotate_left(*times),
            Operation::Rotate { lane, from: End::Back, times } => self.lanes[*lane].rotate_right(*times),
            Operation::Conditional { condition, then, otherwise } => {
                self.apply(if self.meets(condition) { then } else { otherwise });
            }
        }
    }

    fn remove(&mut self, vehicle: usize) {
        let Slot { lane, position } = self.slot(vehicle);
        self.lanes[lane].remove(position);
    }

    fn meets(&self, condition: &Condition) -> bool {
        match *condition {
            Condition::InLane { vehicle, lane } => self.slot(vehicle).lane == lane,
            Condition::AtSlot { vehicle, slot } => self.slot(vehicle) == slot,
            Condition::LaneHolds { lane, count } => self.lanes[lane].len() == count,
        }
    }

    /// An instruction of a kind that changes something as the street stands; where no lane can rotate, a move.
    pub(super) fn draw(&self, kind: Kind, rng: &mut PyRandom) -> Operation {
        match kind {
            Kind::Move => self.draw_move(rng),
            Kind::Swap => {
                let (first, second) = self.draw_two(rng);
                Operation::Swap { first, second }
            }
            Kind::Insert => self.draw_insert(rng),
            Kind::Rotate => self.draw_rotate(rng),
            Kind::Conditional => {
                const BRANCHES: [Kind; 4] = [Kind::Move, Kind::Swap, Kind::Insert, Kind::Rotate];
                let condition = self.draw_condition(rng);
                // Two kinds, so that the branches are never one and the same.
                let usable = if self.lanes_to_rotate().is_empty() { &BRANCHES[..3] } else { &BRANCHES[..] };
                let kinds = rng.sample(usable, 2);
                let [then, otherwise] = [kinds[0], kinds[1]].map(|kind| Box::new(self.draw(kind, rng)));
                Operation::Conditional { condition, then, otherwise }
            }
        }
    }

    fn draw_move(&self, rng: &mut PyRandom) -> Operation {
        let vehicle = rng.index(self.vehicles);
        let slot = self.slot(vehicle);
        let is_there = |lane: usize, end: End| {
            lane == slot.lane
                && match end {
                    End::Front => slot.position == 0,
                    End::Back => slot.position + 1 == self.lanes[lane].len(),
                }
        };
        let goals: Vec<(usize, End)> = (0..self.lanes.len())
            .flat_map(|lane| [(lane, End::Front), (lane, End::Back)])
            .filter(|(lane, end)| !is_there(*lane, *end))
            .collect();
        let (lane, end) = *rng.choice(&goals);
        Operation::Move { vehicle, lane, end }
    }

    fn draw_insert(&self, rng: &mut PyRandom) -> Operation {
        let (vehicle, other) = self.draw_two(rng);
        let (from, to) = (self.slot(vehicle), self.slot(other));
        let coin = rng.random() < 0.5;
        let is_ahead = from.lane == to.lane && from.position + 1 == to.position;
        let is_behind = from.lane == to.lane && from.position == to.position + 1;
        let side = if is_behind || (coin && !is_ahead) { Side::Ahead } else { Side::Behind };
        Operation::Insert { vehicle, side, other }
    }

    fn draw_rotate(&self, rng: &mut PyRandom) -> Operation {
        let lanes = self.lanes_to_rotate();
        if lanes.is_empty() {
            return self.draw_move(rng);
        }
        let lane = *rng.choice(&lanes);
        let times = 1 + rng.index((self.lanes[lane].len() - 1).min(3));
        let from = if rng.random() < 0.5 { End::Front } else { End::Back };
        Operation::Rotate { lane, from, times }
    }

    fn lanes_to_rotate(&self) -> Vec<usize> {
        (0..self.lanes.len()).filter(|lane| self.lanes[*lane].len() >= 2).collect()
    }

    /// A condition that is met half of the time.
    fn draw_condition(&self, rng: &mut PyRandom) -> Condition {
        let met = rng.random() < 0.5;
        let lanes = self.lanes.len();
        // In a single lane, its length and who is in it are no questions.
        let kind = if lanes == 1 { 0 } else { rng.index(3) };
        match kind {
            0 => {
                let (vehicle, other) = self.draw_two(rng);
                Condition::AtSlot { vehicle, slot: self.slot(if met { vehicle } else { other }) }
            }
            1 => {
                let vehicle = rng.index(self.vehicles);
                let other = (self.slot(vehicle).lane + 1 + rng.index(lanes - 1)) % lanes;
                Condition::InLane { vehicle, lane: if met { self.slot(vehicle).lane } else { other } }
            }
            _ => {
                let lane = rng.index(lanes);
                let count = self.lanes[lane].len();
                let fewer = rng.random() < 0.5;
                let wrong = if fewer && count > 0 { count - 1 } else { count + 1 };
                Condition::LaneHolds { lane, count: if met { count } else { wrong } }
            }
        }
    }

    fn draw_two(&self, rng: &mut PyRandom) -> (usize, usize) {
        let first = rng.index(self.vehicles);
        let second = (first + 1 + rng.index(self.vehicles - 1)) % self.vehicles;
        (first, second)
    }
}
