import type { components } from "./schema";

type Schemas = components["schemas"];

export type Problem = Schemas["Problem"];
export type SearchAnswer = Schemas["SearchAnswer"];
export type Hit = Schemas["Hit"];
export type LaneScore = Schemas["LaneScore"];
export type LaneReport = Schemas["LaneReport"];
export type Contribution = Schemas["Contribution"];
export type SearchDefaults = Schemas["SearchDefaults"];
export type SymbolAnswer = Schemas["SymbolAnswer"];
export type SymbolRef = Schemas["SymbolRef"];
export type Neighbour = Schemas["Neighbour"];
export type OutlineEntry = Schemas["OutlineEntry"];
export type Commit = Schemas["CommitModel"];
export type RelatedAnswer = Schemas["RelatedAnswer"];
export type GraphAnswer = Schemas["GraphAnswer"];
export type GraphNode = Schemas["Node"];
export type GraphArrow = Schemas["Arrow"];
export type Suggestion = Schemas["Suggestion"];
export type Status = Schemas["Status"];
export type IndexStatus = Schemas["IndexStatus"];
export type Progress = Schemas["Progress"];
export type SkippedFiles = Schemas["SkippedFiles"];
export type Evals = Schemas["Evals"];
export type EvalSummary = Schemas["EvalSummary"];

export type EvalReport = Schemas["EvalReport"];
export type EvalSet = Schemas["EvalSet"];
export type EvalRow = Schemas["EvalRow"];
export type EvalCase = Schemas["EvalCase"];
export type Figures = Schemas["Figures"];
