/** How Google bills searches. */
import type { Json } from "../Format.ts"
import { isEmpty } from "../json/Read.ts"

/** Each query of an answer is billed once, however often it was made. */
export const distinct = (queries: ReadonlyArray<Json>): number =>
  new Set(queries.filter((query) => !isEmpty(query)).map((query) => JSON.stringify(query))).size
