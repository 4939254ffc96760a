/** What can be done with the selected sessions: compare, export, erase. */
import { useEffect, useRef, useState } from "preact/hooks"
import { Confirm } from "../../parts/erase/Confirm.tsx"
import { Receipt } from "../../parts/erase/Receipt.tsx"
import { useErasure } from "../../parts/erase/useErasure.ts"
import { titleOf } from "../../parts/States.tsx"
import * as Route from "../../route/Route.ts"
import { api } from "../../server/Client.ts"
import * as Exported from "../../server/Exported.ts"
import type { Me, Session } from "../../server/Types.ts"
import * as Format from "../../text/Format.ts"
import { Plain } from "../../text/Plain.tsx"
import { save } from "../../text/save.ts"
import * as Words from "../../text/Words.ts"
import type { Chosen } from "./useChosen.tsx"

/** Sessions that a confirmation names. */
const maxNamed = 8

interface Props {
  readonly me: Me
  readonly chosen: Chosen
  readonly shown: number
  /** Takes one that is erased out of the list. */
  readonly remove: (session: string) => void
}

const callsOf = (rows: ReadonlyArray<Session>): string =>
  Format.counted(
    rows.reduce((sum, { events }) => sum + events, 0),
    "call"
  )

export const Bulk = ({ chosen, me, remove, shown }: Props) => {
  const { rows } = chosen
  const [isAsking, setAsking] = useState(false)
  const erasure = useErasure((session) => api.eraseSession({ session }), remove)
  const isRunning = erasure.state?.isRunning === true
  const mayErase = me.scopes.includes("admin")
  const [one, other] = rows
  return (
    <section class="bulk" aria-label="The selected sessions">
      {rows.length > 0 && (
        <div class="bulk-tools">
          <span role="status">
            <b>{Format.counted(rows.length, "session")} selected</b>, {callsOf(rows)}
          </span>
          <button
            type="button"
            disabled={rows.length !== 2}
            title="Exactly two sessions, side by side"
            onClick={() => Route.go(Route.to(["diff", "sessions"], { a: other!.session, b: one!.session }))}
          >
            Compare
          </button>
          <Export ids={rows.map(({ session }) => session)} />
          <button type="button" disabled={!mayErase || isRunning} onClick={() => setAsking(true)}>
            Erase…
          </button>
          {!mayErase && <span class="hint">Erasing needs a key with the scope admin.</span>}
          <button type="button" class="quiet" onClick={chosen.all} disabled={rows.length === shown}>
            Select all {Format.count(shown)} shown
          </button>
          <button type="button" class="quiet" onClick={chosen.none}>
            Select none
          </button>
        </div>
      )}
      {erasure.state !== undefined && (
        <Receipt
          of={erasure.state}
          stop={erasure.stop}
          again={(ids) => void erasure.start(ids)}
          close={erasure.clear}
        />
      )}
      {isAsking && (
        <Confirm
          does={`Erase ${Format.counted(rows.length, "session")}`}
          close={() => setAsking(false)}
          confirm={() => void erasure.start(rows.map(({ session }) => session))}
        >
          <p>
            This erases {callsOf(rows)} for good, with all that no other call holds, and with what is recorded in these
            sessions until then:
          </p>
          <Names rows={rows} />
        </Confirm>
      )}
    </section>
  )
}

const Names = ({ rows }: { readonly rows: ReadonlyArray<Session> }) => (
  <ul class="named">
    {rows.slice(0, maxNamed).map(({ events, session, title }) => (
      <li key={session}>
        {title !== null && <Plain text={Words.line(title, 60)} />} <Plain as="code" text={session} />,{" "}
        {Format.counted(events, "call")}
      </li>
    ))}
    {rows.length > maxNamed && <li>and {Format.count(rows.length - maxNamed)} more</li>}
  </ul>
)

/** Downloads them as one file. */
const Export = ({ ids }: { readonly ids: ReadonlyArray<string> }) => {
  const [progress, setProgress] = useState<Exported.Progress>()
  const [failed, setFailed] = useState<Exported.Exported["failed"]>([])
  const aborter = useRef<AbortController>(undefined)
  useEffect(() => () => aborter.current?.abort(), [])
  const run = async () => {
    const { signal } = (aborter.current = new AbortController())
    setFailed([])
    setProgress({ sessions: 0, bytes: 0 })
    const { failed, file } = await Exported.sessions(ids, setProgress, signal)
    setProgress(undefined)
    if (signal.aborted) return
    setFailed(failed)
    if (file.size > 0)
      save(file, `tachograph-${Format.counted(ids.length - failed.length, "session").replace(" ", "-")}.ndjson`)
  }
  return (
    <>
      {progress === undefined ? (
        <button type="button" title="As lines of JSON, which can be imported" onClick={() => void run()}>
          Export
        </button>
      ) : (
        <button type="button" onClick={() => aborter.current?.abort()}>
          Stop exporting: {Format.count(progress.sessions)} of {Format.count(ids.length)},{" "}
          {Format.bytes(progress.bytes)}
        </button>
      )}
      {failed.length > 0 && (
        <span class="bad" role="alert">
          Not exported:{" "}
          {failed.map(({ error, id }, index) => (
            <span key={id}>
              {index > 0 && "; "}
              <Plain text={Words.line(id, 40)} /> ({titleOf(error)})
            </span>
          ))}
        </span>
      )}
    </>
  )
}
