//! Routes of the courier.

/// A place on the map.
pub struct Stop {
    pub name: String,
    pub distance: f64,
}

/// Finds the shortest route through all stops, greedily.
pub fn shortest_route(stops: &mut Vec<Stop>) -> f64 {
    stops.sort_by(|a, b| a.distance.total_cmp(&b.distance));
    stops.iter().map(|stop| stop.distance).sum()
}

impl Stop {
    /// Tells whether the courier can walk there.
    pub fn is_near(&self) -> bool {
        self.distance < 1.5
    }
}
