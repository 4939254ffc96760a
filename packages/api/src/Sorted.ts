/** Lists that can be sorted: how one is asked for. */
import { callSorts, sorts } from "@tachograph/core/domain/Sort"
import * as Violation from "@tachograph/core/domain/Violation"
import * as Schema from "effect/Schema"

export const Order = Schema.optionalKey(Schema.Literals(["asc", "desc"]))

/** The highest first, unless `order` is `asc`. */
export const query = { sort: Schema.optionalKey(Schema.Literals(sorts)), order: Order }

/** Of calls. */
export const CallSort = Schema.optionalKey(Schema.Literals(callSorts))

interface Sorted {
  readonly sort?: string
  readonly order?: string
  readonly cursor?: string
}

interface SortableCursor {
  readonly plain: { readonly is: (text: string) => boolean }
  readonly sorted: {
    readonly decode: (text: string) => { readonly by: string } | undefined
    readonly is: (text: string) => boolean
  }
}

/** By what a list is sorted, as its cursors say. */
export const by = ({ order = "desc", sort = "last" }: Sorted): string => `${sort} ${order}`

/** A cursor is one of the order that is asked for. */
export const cursorFits = ({ plain, sorted }: SortableCursor) =>
  Violation.check<Sorted>((query) => {
    const { cursor, sort = "last" } = query
    const isFitting = (text: string) =>
      sort === "last" ? plain.is(text) : sorted.is(text) && sorted.decode(text)?.by === by(query)
    return cursor === undefined || isFitting(cursor)
      ? undefined
      : Violation.valueError("the cursor is of a list that is sorted otherwise")
  })

/** Where a list that is not sorted has one order only. */
export const orderHasSort = Violation.check<Sorted & { readonly order?: string }>(({ order, sort }) =>
  order !== undefined && sort === undefined ? Violation.valueError("an order needs a sort") : undefined
)
