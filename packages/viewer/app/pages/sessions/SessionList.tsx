/** The sessions that were read, with what is done with those that are selected, and the one that is looked at beside them. */
import { useEffect, useRef, useState } from "preact/hooks"
import { useSelection } from "../../keyboard/useSelection.ts"
import { Outdated } from "../../parts/Banner.tsx"
import { SumNote } from "../../parts/Costs.tsx"
import { More } from "../../parts/More.tsx"
import type { Sorting } from "../../parts/Sorting.tsx"
import { PlainTable } from "../../parts/Table.tsx"
import { useLazy } from "../../parts/useLazy.ts"
import * as Route from "../../route/Route.ts"
import type { Me, Session } from "../../server/Types.ts"
import type { Pages } from "../../server/usePages.ts"
import { columnsOf } from "./columns.tsx"
import { useChosen } from "./useChosen.tsx"

/** How often the live dots are drawn anew (ms). */
const redrawnMs = 5_000

const loadBulk = () => import("./Bulk.tsx").then(({ Bulk }) => Bulk)

const loadPeek = () => import("./SessionPeek.tsx").then(({ SessionPeek }) => SessionPeek)

const peek = (session: string | null) => Route.amend({ peek: session })

interface Props {
  readonly me: Me
  readonly pages: Pages<Session>
  readonly sorting: Sorting
  /** The session that is looked at. */
  readonly peeked: string | null
}

export const SessionList = ({ me, pages, peeked, sorting }: Props) => {
  const { error, remove, rows } = pages
  const SessionPeek = useLazy(loadPeek, peeked !== null)
  const list = useRef<HTMLTableSectionElement>(null)
  const selection = useSelection(
    rows.map(({ session }) => session),
    list,
    (index) => Route.go(Route.to(["sessions", rows[index]!.session])),
    (index) => peek(rows[index]!.session)
  )
  const chosen = useChosen(rows, selection)
  const Bulk = useLazy(loadBulk, chosen.everChosen)
  // What is looked at follows the selection.
  useEffect(() => {
    const row = rows[selection]
    if (peeked !== null && row !== undefined) peek(row.session)
  }, [selection])
  const now = useNow()
  return (
    <>
      {rows.length > 0 && (
        <>
          {error !== undefined && <Outdated error={error} />}
          <PlainTable
            columns={[chosen.column, ...columnsOf(now, (session) => peek(peeked === session ? null : session))]}
            keyOf={({ session }) => session}
            {...{ list, rows, selection, sorting }}
          />
          <SumNote of={rows} />
          <More pages={pages} />
        </>
      )}
      {Bulk !== undefined && <Bulk me={me} chosen={chosen} shown={rows.length} remove={remove} />}
      {peeked !== null && SessionPeek !== undefined && (
        <SessionPeek key={peeked} id={peeked} close={() => peek(null)} />
      )}
    </>
  )
}

/** The clock of the live dots. */
const useNow = (): number => {
  const [now, setNow] = useState(Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), redrawnMs)
    return () => clearInterval(timer)
  }, [])
  return now
}
