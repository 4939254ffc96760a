/** By what lists are sorted, with the same words everywhere. */

/** Of sessions and of groups of calls: `last` is the time of the last call, and `tokens` are those of input and output. */
export const sorts = ["last", "cost", "calls", "tokens", "errors", "duration"] as const
export type Sort = (typeof sorts)[number]

/** Of calls: `last` is the order of recording. */
export const callSorts = ["last", "cost", "tokens", "duration"] as const
export type CallSort = (typeof callSorts)[number]

export type Order = "asc" | "desc"
