import type { components } from "./schema";

type Schemas = components["schemas"];

export type Problem = Schemas["Problem"];
export type SearchAnswer = Schemas["SearchPage"];
export type Hit = Schemas["PageHit"];
export type LaneScore = Schemas["LaneScore"];
export type LaneReport = Schemas["LaneReport"];
export type Contribution = Schemas["Contribution"];
export type SearchDefaults = Schemas["SearchDefaults"];
export type SymbolAnswer = Schemas["SymbolPage"];
export type SymbolRef = Schemas["SymbolRow"];
export type Neighbour = Schemas["GraphStep"];
export type Commit = Schemas["FoundCommit"];
export type RelatedAnswer = Schemas["RelatedPage"];
export type GraphAnswer = Schemas["GraphPage"];
export type GraphNode = Schemas["Node"];
export type GraphArrow = Schemas["Arrow"];
export type Suggestion = Schemas["Suggestion"];
export type Status = Schemas["Status"];
export type IndexStatus = Schemas["IndexStatus"];
export type Progress = Schemas["ProgressEvent"];
export type SkippedFiles = Schemas["SkippedFiles"];
export type Evals = Schemas["Evals"];
export type EvalSummary = Schemas["EvalSummary"];

export type EvalReport = Schemas["EvalReport"];
export type EvalSet = Schemas["EvalSet"];
export type EvalRow = Schemas["EvalRow"];
export type EvalCase = Schemas["EvalCase"];
export type Figures = Schemas["Figures"];
