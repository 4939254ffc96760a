/** How far an erasure is, and what it erased: the receipts of the server, added up. */
import type { ErasureReceipt } from "@tachograph/client/api"
import * as Format from "../../text/Format.ts"
import { Plain } from "../../text/Plain.tsx"
import { titleOf } from "../States.tsx"
import { useSome } from "../useSome.tsx"
import type { Erasure } from "./useErasure.ts"

const described = ({ bytes, damaged, events, pieces, sessions }: ErasureReceipt): string =>
  [
    `Erased ${Format.counted(events, "call")}, ${Format.counted(sessions, "session")} and ${Format.counted(pieces, "piece")} of payloads`,
    `: ${Format.counted(bytes, "byte")} of the storage`,
    ...(damaged === 0 ? [] : [`; ${Format.counted(damaged, "damaged pack")} deleted with them`])
  ].join("")

const Failures = ({ failed }: Pick<Erasure, "failed">) => {
  const [count, more] = useSome(failed.length)
  return (
    <>
      <p class="bad">{Format.count(failed.length)} could not be erased:</p>
      <ul>
        {failed.slice(0, count).map(({ error, id }) => (
          <li key={id}>
            <Plain as="code" text={id} />: {titleOf(error)}
          </li>
        ))}
      </ul>
      {more}
    </>
  )
}

interface Props {
  readonly of: Erasure
  readonly stop?: () => void
  /** Tries those again that failed. */
  readonly again: (ids: ReadonlyArray<string>) => void
  readonly close?: () => void
}

export const Receipt = ({ again, close, of, stop }: Props) => {
  const { failed, isRunning, isStopping, receipt, tried } = of
  return (
    <div class="receipt">
      <div role="status">
        {isRunning ? (
          <p>
            Erasing: {Format.count(tried)} of {Format.count(of.of)}…
          </p>
        ) : (
          <p>
            {described(receipt)}.{tried < of.of && ` Stopped: ${Format.count(of.of - tried)} were left as they are.`}
          </p>
        )}
      </div>
      {failed.length > 0 && <Failures failed={failed} />}
      {isRunning && stop !== undefined && (
        <button type="button" disabled={isStopping} onClick={stop}>
          {isStopping ? "Stopping…" : "Stop"}
        </button>
      )}
      {!isRunning && failed.length > 0 && (
        <button type="button" onClick={() => again(failed.map(({ id }) => id))}>
          Try again
        </button>
      )}{" "}
      {!isRunning && close !== undefined && (
        <button type="button" onClick={close}>
          Close the receipt
        </button>
      )}
    </div>
  )
}
