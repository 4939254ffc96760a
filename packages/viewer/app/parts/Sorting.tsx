/** By what a list is sorted. */

const names = {
  last: "Last call",
  cost: "Cost",
  calls: "Calls",
  tokens: "Tokens",
  errors: "Failed",
  duration: "Duration"
} as const

/** What a list of the server can be sorted by. */
export type Sort = keyof typeof names

/** Of what is read whole, the page sorts by these too. */
const namesHere = { ...names, sessions: "Sessions", session_cost: "Cost of a session", p95: "Duration, p95" } as const

export type SortHere = keyof typeof namesHere

export interface Sorting {
  /** Undefined for the list's own order. */
  readonly sort: SortHere | undefined
  readonly order: "asc" | "desc"
  /** Whether the highest is always first. */
  readonly isOneWay?: boolean
  readonly set: (sort: SortHere | undefined, order: "asc" | "desc") => void
}

export interface ListSorting extends Sorting {
  readonly sort: Sort | undefined
}

/** Sorts by something, the highest first; by the same again, the other way round. */
const turn = ({ isOneWay = false, order, set, sort }: Sorting, next: SortHere): void =>
  set(next, next === sort && order === "desc" && !isOneWay ? "asc" : "desc")

const isSort = (name: string | null): name is Sort => name !== null && name in names

/** What a place says of it, which `amend` changes, so that a link holds it. */
export const of = (
  query: URLSearchParams,
  amend: (changes: { readonly sort: SortHere | undefined; readonly order: "asc" | null }) => void
): ListSorting => {
  const named = query.get("sort")
  return {
    sort: isSort(named) ? named : undefined,
    order: query.get("order") === "asc" ? "asc" : "desc",
    set: (sort, order) => amend({ sort, order: order === "asc" ? order : null })
  }
}

/** The parameters of a request. */
export const queryOf = ({ order, sort }: ListSorting) => (sort === undefined ? {} : { sort, order })

/** What its arrow says. */
const way = { asc: "the lowest first", desc: "the highest first" } as const
const arrow = { asc: "↑", desc: "↓" } as const

/** The title of a column that sorts the list. */
export const SortTitle = ({
  name,
  sort,
  sorting
}: {
  readonly name: string
  readonly sort: SortHere
  readonly sorting: Sorting
}) => {
  const isSorted = sorting.sort === sort
  return (
    <button
      type="button"
      class="sort"
      title={isSorted ? `Sorted, ${way[sorting.order]}` : `Sort by ${namesHere[sort].toLowerCase()}`}
      onClick={() => turn(sorting, sort)}
    >
      {name}
      <span aria-hidden="true">{isSorted ? arrow[sorting.order] : ""}</span>
    </button>
  )
}

interface SortByProps {
  readonly sorting: Sorting
  readonly sorts: ReadonlyArray<Sort>
  /** The list's own order, in words. */
  readonly own?: string
}

/** All that a list can be sorted by, also where the titles of its columns have no room. */
export const SortBy = ({ own, sorting, sorts }: SortByProps) => (
  <span class="sort-by">
    <label>
      <span>Sorted by</span>{" "}
      <select
        value={sorting.sort ?? ""}
        onChange={({ currentTarget: { value } }) => sorting.set(isSort(value) ? value : undefined, "desc")}
      >
        {own !== undefined && <option value="">{own}</option>}
        {sorts.map((sort) => (
          <option key={sort} value={sort}>
            {names[sort]}
          </option>
        ))}
      </select>
    </label>
    {sorting.sort !== undefined && sorting.isOneWay !== true && (
      <button
        type="button"
        class="quiet"
        title="The other way round"
        onClick={() => turn(sorting, sorting.sort!)}
        aria-label={`Sorted with ${way[sorting.order]}: turn round`}
      >
        {arrow[sorting.order]}
      </button>
    )}
  </span>
)
