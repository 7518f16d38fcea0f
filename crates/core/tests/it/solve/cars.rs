//! Plays the instructions on a flat list of (lane, vehicle), front to back within each lane.

use super::between;

pub(crate) fn solve(prompt: &str) -> String {
    let mut state = Lanes::default();
    for line in between(prompt, "from front to back:\n", "\n\n").lines() {
        let (lane, vehicles) = line.strip_prefix("Lane ").unwrap().split_once(": ").unwrap();
        for vehicle in vehicles.split(", ").filter(|vehicle| *vehicle != "empty") {
            state.queue.push((lane.parse().unwrap(), vehicle.to_owned()));
        }
    }
    for line in between(prompt, "in this order:\n", "\n\n").lines() {
        let sentence = line.strip_suffix('.').unwrap().to_lowercase();
        if is_about_a_move(&sentence) {
            state.apply(&sentence);
        }
    }
    if prompt.contains("At which place is the ") {
        let vehicle = between(prompt, "At which place is the ", " in the end?");
        state.number(vehicle).to_string()
    } else {
        let number: usize = between(prompt, "Which vehicle is at place ", " in the end?").parse().unwrap();
        let answer =
            state.queue.iter().find(|(_, vehicle)| state.number(vehicle) == number).unwrap().1.clone();
        let options = prompt.split_once("one of these:\n").unwrap().1;
        assert_eq!(options.lines().filter(|line| line[3..] == answer).count(), 1);
        assert_eq!(options.lines().count(), state.queue.len());
        answer
    }
}

/// Instructions use these words; what only moves the story along uses others.
fn is_about_a_move(sentence: &str) -> bool {
    let is_hypothetical = sentence.contains("would like") || sentence.contains("thinks about");
    !is_hypothetical && (sentence.contains(" moves to ") || sentence.contains(" swap places"))
}

#[derive(Default)]
struct Lanes {
    queue: Vec<(usize, String)>,
}

impl Lanes {
    fn index(&self, vehicle: &str) -> usize {
        self.queue.iter().position(|(_, other)| other == vehicle).unwrap()
    }

    fn number(&self, vehicle: &str) -> usize {
        let index = self.index(vehicle);
        let lane = self.queue[index].0;
        let ahead = self.queue[..index].iter().filter(|(other, _)| *other == lane).count();
        lane * 100 + ahead + 1
    }

    fn apply(&mut self, sentence: &str) {
        if let Some(rest) = sentence.strip_prefix("if ") {
            let (condition, rest) = rest.split_once(", ").unwrap();
            let (then, otherwise) = rest.split_once("; otherwise, ").unwrap();
            self.apply(if self.is_true(condition) { then } else { otherwise });
        } else if let Some(rest) = sentence.strip_prefix("this is done twice: ") {
            (0..2).for_each(|_| self.apply(rest));
        } else if let Some(rest) = sentence.strip_prefix("this is done three times: ") {
            (0..3).for_each(|_| self.apply(rest));
        } else if let Some(pair) = sentence.strip_suffix(" swap places") {
            let (first, second) = pair.strip_prefix("the ").unwrap().split_once(" and the ").unwrap();
            let (one, two) = (self.index(first), self.index(second));
            second.clone_into(&mut self.queue[one].1);
            first.clone_into(&mut self.queue[two].1);
        } else {
            let (vehicle_named, goal) = sentence.split_once(" moves to the ").unwrap();
            self.move_vehicle(&self.vehicle_named(vehicle_named), goal);
        }
    }

    fn is_true(&self, condition: &str) -> bool {
        let last = condition.rsplit(' ').next().unwrap();
        if let Some(rest) = condition.strip_prefix("there ") {
            let count: usize = rest.split(' ').nth(2).unwrap().parse().unwrap();
            return self.length(last) == count;
        }
        if last == "empty" {
            return self.length(condition.split(' ').nth(1).unwrap()) == 0;
        }
        let vehicle = condition.split(' ').nth(1).unwrap();
        let number = self.number(vehicle);
        let found = if condition.contains(" at place ") { number } else { number / 100 };
        found.to_string() == last
    }

    fn length(&self, lane: &str) -> usize {
        self.queue.iter().filter(|(other, _)| other.to_string() == lane).count()
    }

    /// The vehicle meant by "the taxi" or "the vehicle at the front of lane 2".
    fn vehicle_named(&self, text: &str) -> String {
        let in_lane = |lane: &str| {
            let lane: usize = lane.parse().unwrap();
            self.queue.iter().filter(move |(other, _)| *other == lane).map(|(_, vehicle)| vehicle.clone())
        };
        if let Some(lane) = text.strip_prefix("the vehicle at the front of lane ") {
            in_lane(lane).next().unwrap()
        } else if let Some(lane) = text.strip_prefix("the vehicle at the back of lane ") {
            in_lane(lane).next_back().unwrap()
        } else {
            text.strip_prefix("the ").unwrap().to_owned()
        }
    }

    fn move_vehicle(&mut self, vehicle: &str, goal: &str) {
        let old_lane = self.queue.remove(self.index(vehicle)).0;
        let lane_of = |text: &str| if text == "that lane" { old_lane } else { text[5..].parse().unwrap() };
        // The head and the tail of the flat list are the head and the tail of every lane.
        let (at, lane) = if let Some(lane) = goal.strip_prefix("front of ") {
            (0, lane_of(lane))
        } else if let Some(lane) = goal.strip_prefix("back of ") {
            (self.queue.len(), lane_of(lane))
        } else if let Some(other) = goal.strip_prefix("place directly ahead of the ") {
            (self.index(other), self.queue[self.index(other)].0)
        } else {
            let other = self.index(goal.strip_prefix("place directly behind the ").unwrap());
            (other + 1, self.queue[other].0)
        };
        self.queue.insert(at, (lane, vehicle.to_owned()));
    }
}
