//! Panels, in the words of what they show; Grafana's JSON is made of them at the end.

use forbear::event::catalogue::Metric;
use forbear::event::metric::Words;
use serde_json::{Value, json};

use crate::words::colour;

/// What tells pools apart, in the order of the recording rules.
pub(crate) const BY: &str = "cluster, namespace, provider, pool";
const OF_PLACE: &str = r#"cluster=~"$cluster", namespace=~"$namespace""#;
const OF_POOL: &str = r#"provider=~"$provider", pool=~"$pool""#;
const OF_PROCESS: &str = r#"job=~"$job", instance=~"$instance""#;

/// A query with its `<words>` filled in: `<by>` are the labels that tell pools apart, `<pool>` the matchers of recorded
/// series, `<raw>` those of a pool's metrics, `<process>` those of a process's.
pub(crate) fn filled(query: &str) -> String {
    let query = query
        .replace("<by>", BY)
        .replace("<pool>", &format!("{OF_PLACE}, {OF_POOL}"))
        .replace("<raw>", &format!("{OF_PROCESS}, {OF_PLACE}, {OF_POOL}"))
        .replace("<process>", &format!("{OF_PROCESS}, {OF_PLACE}"));
    query.lines().map(str::trim).collect::<Vec<_>>().join("\n")
}

/// How a panel is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Lines,
    Stat,
    Table,
    States,
    Heatmap,
    Text,
}

impl Kind {
    const fn name(self) -> &'static str {
        match self {
            Self::Lines => "timeseries",
            Self::Stat => "stat",
            Self::Table => "table",
            Self::States => "state-timeline",
            Self::Heatmap => "heatmap",
            Self::Text => "text",
        }
    }
}

/// A panel in the making.
#[derive(Clone, Debug)]
pub(crate) struct Panel {
    kind: Kind,
    title: &'static str,
    description: String,
    targets: Vec<Value>,
    defaults: Value,
    custom: Value,
    overrides: Vec<Value>,
    options: Value,
    transformations: Vec<Value>,
    pub(crate) width: u32,
    pub(crate) height: u32,
}

impl Panel {
    fn new(kind: Kind, title: &'static str, width: u32) -> Self {
        Self {
            kind,
            title,
            description: String::new(),
            targets: Vec::new(),
            defaults: json!({}),
            custom: json!({}),
            overrides: Vec::new(),
            options: json!({}),
            transformations: Vec::new(),
            width,
            height: 8,
        }
    }

    /// Lines over time, never smoothed: a smooth line shows values that nobody measured.
    pub(crate) fn lines(title: &'static str, width: u32) -> Self {
        let mut panel = Self::new(Kind::Lines, title, width);
        panel.defaults = json!({"min": 0, "color": {"mode": "palette-classic-by-name"}});
        panel.custom = json!({
            "drawStyle": "line", "lineInterpolation": "linear", "lineWidth": 1, "fillOpacity": 10,
            "showPoints": "never", "spanNulls": false, "axisSoftMin": 0,
        });
        let legend =
            json!({"showLegend": true, "displayMode": "list", "placement": "bottom", "calcs": ["lastNotNull"]});
        panel.options = json!({"legend": legend, "tooltip": {"mode": "multi", "sort": "desc"}});
        panel
    }

    /// One number, large, coloured from its first step on.
    pub(crate) fn stat(title: &'static str, width: u32) -> Self {
        let mut panel = Self::new(Kind::Stat, title, width);
        panel.height = 4;
        panel.defaults = json!({"color": {"mode": "thresholds"}});
        panel.options = json!({
            "reduceOptions": {"calcs": ["lastNotNull"], "values": false, "fields": ""},
            "colorMode": "background", "graphMode": "none", "textMode": "value", "justifyMode": "center",
        });
        panel
    }

    /// A table of instant values.
    pub(crate) fn table(title: &'static str, width: u32) -> Self {
        let mut panel = Self::new(Kind::Table, title, width);
        panel.custom = json!({"align": "left", "cellOptions": {"type": "auto"}, "filterable": false, "minWidth": 60});
        panel.options = json!({"showHeader": true, "cellHeight": "sm"});
        panel
    }

    /// A band for each series, coloured by its state.
    pub(crate) fn states(title: &'static str, width: u32) -> Self {
        let mut panel = Self::new(Kind::States, title, width);
        panel.custom = json!({"fillOpacity": 85, "lineWidth": 0});
        panel.defaults = json!({"color": {"mode": "thresholds"}});
        let legend = json!({"showLegend": true, "displayMode": "list", "placement": "bottom"});
        panel.options = json!({
            "mergeValues": true, "showValue": "auto", "alignValue": "left", "rowHeight": 0.9,
            "legend": legend, "tooltip": {"mode": "single"},
        });
        panel
    }

    /// How a histogram's values are spread, over time.
    pub(crate) fn heatmap(title: &'static str, width: u32) -> Self {
        let mut panel = Self::new(Kind::Heatmap, title, width);
        panel.options = json!({
            "calculate": false, "cellGap": 1, "showValue": "never", "legend": {"show": true},
            "color": {"mode": "scheme", "scheme": "Oranges", "steps": 64, "fill": "dark-orange", "exponent": 0.5},
            "yAxis": {"axisPlacement": "left", "reverse": false, "unit": "s"}, "rowsFrame": {"layout": "auto"},
            "tooltip": {"mode": "single", "yHistogram": false}, "filterValues": {"le": 1e-9},
            "exemplars": {"color": "blue"},
        });
        panel
    }

    /// Something to read.
    pub(crate) fn text(title: &'static str, width: u32, height: u32, markdown: &str) -> Self {
        let mut panel = Self::new(Kind::Text, title, width).says("How to read this board.");
        panel.height = height;
        panel.options = json!({"mode": "markdown", "content": markdown});
        panel
    }

    /// What bad looks like, and what to do about it.
    pub(crate) fn says(mut self, description: &str) -> Self {
        self.description = description.split_whitespace().collect::<Vec<_>>().join(" ");
        self
    }

    pub(crate) fn unit(mut self, unit: &str) -> Self {
        self.defaults["unit"] = json!(unit);
        self
    }

    pub(crate) fn decimals(mut self, decimals: u32) -> Self {
        self.defaults["decimals"] = json!(decimals);
        self
    }

    /// What stands there where there is nothing to show: why.
    pub(crate) fn empty(mut self, why: &str) -> Self {
        self.defaults["noValue"] = json!(why);
        self
    }

    /// The largest value the axis shows at least.
    pub(crate) fn up_to(mut self, most: f64) -> Self {
        self.custom["axisSoftMax"] = json!(most);
        self
    }

    pub(crate) const fn tall(mut self, height: u32) -> Self {
        self.height = height;
        self
    }

    /// A query over time.
    pub(crate) fn query(self, query: &str, legend: &str) -> Self {
        self.target(query, json!({"legendFormat": legend, "range": true, "instant": false, "format": "time_series"}))
    }

    /// A query of the values at the end of the time shown.
    pub(crate) fn now(self, query: &str, legend: &str) -> Self {
        let format = if self.kind == Kind::Table { "table" } else { "time_series" };
        self.target(query, json!({"legendFormat": legend, "range": false, "instant": true, "format": format}))
    }

    /// The buckets of a histogram, as they are spread.
    pub(crate) fn spread(self, query: &str) -> Self {
        let how = json!({"legendFormat": "{{le}}", "range": true, "instant": false, "format": "heatmap"});
        self.target(query, how)
    }

    fn target(mut self, query: &str, mut how: Value) -> Self {
        let name = ["A", "B", "C", "D", "E", "F", "G", "H"][self.targets.len()];
        how["refId"] = json!(name);
        how["expr"] = json!(filled(query));
        how["datasource"] = datasource();
        self.targets.push(how);
        self
    }

    /// Each series on top of the one before.
    pub(crate) fn stacked(mut self) -> Self {
        self.custom["stacking"] = json!({"mode": "normal", "group": "A"});
        self.custom["fillOpacity"] = json!(60);
        self.custom["lineWidth"] = json!(0);
        self
    }

    /// Steps of a value: from which on it has which colour.
    pub(crate) fn steps(mut self, first: &str, steps: &[(f64, &str)]) -> Self {
        let rest = steps.iter().map(|(from, colour)| json!({"value": from, "color": colour}));
        let steps: Vec<_> = std::iter::once(json!({"value": null, "color": first})).chain(rest).collect();
        self.defaults["thresholds"] = json!({"mode": "absolute", "steps": steps});
        self
    }

    /// Draws the steps into the lines: as areas.
    pub(crate) fn with_bands(mut self) -> Self {
        self.custom["thresholdsStyle"] = json!({"mode": "area"});
        self
    }

    /// Draws the line above which a number means what the panel says, as a dashed one.
    pub(crate) fn above(mut self, line: f64) -> Self {
        self = self.steps("transparent", &[(line, "red")]);
        self.custom["thresholdsStyle"] = json!({"mode": "dashed"});
        self
    }

    /// The colours of all words of a metric's label.
    pub(crate) fn words_of(self, metric: Metric, label: &str) -> Self {
        let row = metric.row();
        let label = row.labels.iter().find(|known| known.key == label).expect("a label of the metric");
        match label.words {
            Words::Closed(words) => self.coloured(words),
            _ => panic!("{}: {} has no closed words", row.prometheus, label.key),
        }
    }

    /// The colours of these words.
    pub(crate) fn coloured(mut self, words: &[&str]) -> Self {
        for word in words {
            let Some(colour) = colour(word) else { panic!("{word} has no colour") };
            let property = json!({"id": "color", "value": {"mode": "fixed", "fixedColor": colour}});
            self = self.field(word, vec![property]);
        }
        self
    }

    /// Draws the series whose name fits as a dashed line without a filling: a limit.
    pub(crate) fn dashed(mut self, name: &str) -> Self {
        self.overrides.push(json!({
            "matcher": {"id": "byRegexp", "options": name},
            "properties": [
                {"id": "custom.lineStyle", "value": {"fill": "dash", "dash": [10, 10]}},
                {"id": "custom.fillOpacity", "value": 0}, {"id": "custom.lineWidth", "value": 2},
            ],
        }));
        self
    }

    /// What differs for the field of this name.
    pub(crate) fn field(mut self, name: &str, properties: Vec<Value>) -> Self {
        self.overrides.push(json!({"matcher": {"id": "byName", "options": name}, "properties": properties}));
        self
    }

    /// How wide these columns are, in pixels; others share what is left.
    pub(crate) fn widths(mut self, widths: &[(&str, u32)]) -> Self {
        for (column, width) in widths {
            self = self.field(column, vec![json!({"id": "custom.width", "value": width})]);
        }
        self
    }

    /// Words for values.
    pub(crate) fn mapped(mut self, mappings: Value) -> Self {
        self.defaults["mappings"] = mappings;
        self
    }

    pub(crate) fn option(mut self, key: &str, value: Value) -> Self {
        self.options[key] = value;
        self
    }

    /// The results of all queries as one table: a column is what it is called here, in this order; others are left out.
    pub(crate) fn columns(mut self, columns: &[(&str, &str)]) -> Self {
        let mut order = serde_json::Map::new();
        let mut names = serde_json::Map::new();
        for (place, (field, column)) in columns.iter().enumerate() {
            order.insert((*field).to_owned(), json!(place));
            names.insert((*field).to_owned(), json!(column));
        }
        let of_rules = |value: &str| (value.to_owned(), json!(true));
        let left_out = ["Time", "__name__"].map(of_rules).into_iter();
        let values = ["Value #A", "Value #B", "Value #C", "Value #D", "Value #E", "Value"];
        let unnamed = values.into_iter().filter(|value| !names.contains_key(*value)).map(of_rules);
        let excluded: serde_json::Map<_, _> = left_out.chain(unnamed).collect();
        // A cell without a value is no reason to tell why there is nothing at all.
        let nothing = json!([{"id": "noValue", "value": "–"}]);
        self.overrides.push(json!({"matcher": {"id": "byRegexp", "options": "/.*/"}, "properties": nothing}));
        self.transformations = vec![
            json!({"id": "merge", "options": {}}),
            json!({"id": "organize", "options": {
                "excludeByName": excluded, "indexByName": order, "renameByName": names, "includeByName": {},
            }}),
        ];
        self
    }

    /// Sorts the table by a column.
    pub(crate) fn sorted_by(mut self, column: &str, descending: bool) -> Self {
        self.options["sortBy"] = json!([{"displayName": column, "desc": descending}]);
        self
    }

    /// A click on a value leads here.
    pub(crate) fn leads_to(mut self, title: &str, url: &str) -> Self {
        self.defaults["links"] = json!([{"title": title, "url": url, "targetBlank": true}]);
        self
    }

    /// The panel as Grafana reads it.
    pub(crate) fn json(&self, id: u32, x: u32, y: u32) -> Value {
        let mut defaults = self.defaults.clone();
        if self.custom.as_object().is_some_and(|custom| !custom.is_empty()) {
            defaults["custom"] = self.custom.clone();
        }
        let mut panel = json!({
            "id": id, "type": self.kind.name(), "title": self.title, "description": self.description,
            "gridPos": {"x": x, "y": y, "w": self.width, "h": self.height},
            "options": self.options,
        });
        if self.kind != Kind::Text {
            panel["datasource"] = datasource();
            panel["targets"] = json!(self.targets);
            panel["fieldConfig"] = json!({"defaults": defaults, "overrides": self.overrides});
        }
        if !self.transformations.is_empty() {
            panel["transformations"] = json!(self.transformations);
        }
        panel
    }
}

/// The data source that the board's first variable names.
pub(crate) fn datasource() -> Value {
    json!({"type": "prometheus", "uid": "${datasource}"})
}

/// Mappings of a field's words.
pub(crate) fn mapping(words: impl IntoIterator<Item = (String, String, Option<String>)>) -> Value {
    let mut options = serde_json::Map::new();
    for (index, (value, text, colour)) in words.into_iter().enumerate() {
        let mut shown = json!({"text": text, "index": index});
        if let Some(colour) = colour {
            shown["color"] = json!(colour);
        }
        options.insert(value, shown);
    }
    json!([{"type": "value", "options": options}])
}
