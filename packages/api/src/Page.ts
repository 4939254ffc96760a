/** Pages of lists: how one is asked for, and how it is answered. */
import * as Schema from "effect/Schema"
import { Limit } from "./Limit.ts"
import { MomentInQuery } from "./Moment.ts"

interface Cursor<S extends Schema.Top> {
  readonly schema: S
}

/** The query parameters that say which page of a list. */
export const query = <S extends Schema.Top>({ schema }: Cursor<S>) => ({
  limit: Schema.optionalKey(Limit),
  cursor: Schema.optionalKey(schema)
})

/** At this time or later, and before this time. */
export const period = { after: Schema.optionalKey(MomentInQuery), before: Schema.optionalKey(MomentInQuery) }

/** The rows under their name, and the cursor of the next page. */
export const of = <Name extends string, Row extends Schema.Top, S extends Schema.Top>(
  identifier: string,
  name: Name,
  row: Row,
  { schema }: Cursor<S>
) => {
  const rows = { [name]: Schema.Array(row) } as { readonly [Key in Name]: Schema.$Array<Row> }
  return Schema.Struct({ ...rows, next_cursor: Schema.NullOr(schema) }).annotate({ identifier })
}
