/** Erases a person with a confirmation, and shows the receipt and how to see that nothing is left. */
import { useState } from "preact/hooks"
import { Confirm } from "../../parts/erase/Confirm.tsx"
import { Receipt } from "../../parts/erase/Receipt.tsx"
import { useErasure } from "../../parts/erase/useErasure.ts"
import { Time } from "../../parts/Facts.tsx"
import { Failed, Loading } from "../../parts/States.tsx"
import * as Route from "../../route/Route.ts"
import { api, ServerError } from "../../server/Client.ts"
import type { Me } from "../../server/Types.ts"
import { useAnswer } from "../../server/useAnswer.ts"
import * as Format from "../../text/Format.ts"
import { Plain } from "../../text/Plain.tsx"
import { sha256 } from "../../text/Sha256.ts"

/** Entries of the audit log among which that of the erasure is looked for: it is one of the latest. */
const latestEntries = 20

/** Whether the server knows nobody of this id. */
const isUnknown = async (person_id: string, signal: AbortSignal): Promise<boolean> => {
  try {
    await api.getPerson({ person_id }, { signal })
    return false
  } catch (error) {
    if (error instanceof ServerError && error.type === "person-not-found") return true
    throw error
  }
}

const readProof = (id: string) => async (signal: AbortSignal) => {
  const [isGone, { events }, { entries }] = await Promise.all([
    isUnknown(id, signal),
    api.listEvents({ person: id, limit: 1 }, { signal }),
    api.listAudit({ limit: latestEntries }, { signal })
  ])
  const subject = sha256(id)
  const entry = entries.find((each) => each.action === "person-erased" && each.subject === subject)
  return { isGone, hasCalls: events.length > 0, entry, subject }
}

/** Asks the server again, and says what to ask it oneself. */
const Proof = ({ id }: { readonly id: string }) => {
  const { again, error, value } = useAnswer(readProof(id), id)
  if (error !== undefined) return <Failed error={error} again={again} />
  if (value === undefined) return <Loading what="what is left" />
  const { entry, hasCalls, isGone, subject } = value
  return (
    <>
      <h2>How to see that they are gone</h2>
      <ul>
        <li>
          <code>GET /api/v1/people/…</code>{" "}
          {isGone ? "knows nobody of this id." : "knows this id: it was recorded again."}
        </li>
        <li>
          <a href={Route.to(["sessions"], { person: id })}>The list of their sessions</a> and{" "}
          <code>GET /api/v1/events?person=…</code> {hasCalls ? "have calls that were recorded since." : "are empty."}
        </li>
        <li>
          The audit log (<code>tachograph audit</code>) keeps{" "}
          {entry === undefined ? (
            "the erasure"
          ) : (
            <>
              <code>person-erased</code> at <Time at={entry.at} /> by <Plain as="code" text={entry.actor} />
            </>
          )}
          , with the SHA-256 of the id instead of it: <code class="id">{subject}</code>
        </li>
      </ul>
    </>
  )
}

interface Props {
  readonly me: Me
  readonly id: string
  readonly calls: number
  /** In how many sessions these are; null where that is not known. */
  readonly sessions: number | null
  /** Called when they are gone. */
  readonly onErased: () => void
}

export const ErasePerson = ({ calls, id, me, onErased, sessions }: Props) => {
  const [isAsking, setAsking] = useState(false)
  const erasure = useErasure((person_id) => api.erasePerson({ person_id }), onErased)
  const mayErase = me.scopes.includes("admin")
  const isGone = erasure.state?.erased.includes(id) === true
  const start = () => void erasure.start([id])
  return (
    <>
      {erasure.state !== undefined && <Receipt of={erasure.state} again={start} />}
      {isGone && <Proof id={id} />}
      {erasure.state === undefined && (
        <>
          <h2>Erase</h2>
          <p>
            <button type="button" disabled={!mayErase} onClick={() => setAsking(true)}>
              Erase this person…
            </button>{" "}
            {!mayErase && <span class="hint">Erasing needs a key with the scope admin.</span>}
          </p>
        </>
      )}
      {isAsking && (
        <Confirm does="Erase this person" close={() => setAsking(false)} confirm={start}>
          <p>
            <Plain as="b" text={id} />, their properties, and {Format.counted(calls, "call")} in{" "}
            {sessions === null ? "their sessions" : Format.counted(sessions, "session")} go for good, with all that no
            call of others holds. Calls of others in the same sessions stay.
          </p>
        </Confirm>
      )}
    </>
  )
}
