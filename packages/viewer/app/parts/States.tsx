/** What a page shows where it has nothing to show: it waits, there is nothing, or it may not. */
import type { ComponentChildren } from "preact"
import type { ServerError } from "../server/Client.ts"
import * as Key from "../server/Key.ts"
import { Plain } from "../text/Plain.tsx"

/** Appears only after a moment, so that a quick answer does not flicker. */
export const Loading = ({ what }: { readonly what: string }) => (
  <p class="state loading" role="status">
    Loading {what}…
  </p>
)

interface Whole {
  /** Whether it is all that the page shows, so that its title is that of the page. */
  readonly isWhole?: boolean
}

const Title = ({ isWhole, title }: Whole & { readonly title: string }) =>
  isWhole === true ? <h1>{title}</h1> : <h2>{title}</h2>

export const Empty = ({
  children,
  isWhole = false,
  title
}: Whole & { readonly title: string; readonly children?: ComponentChildren }) => (
  <div class="state">
    <Title title={title} isWhole={isWhole} />
    {children}
  </div>
)

const texts: Readonly<Record<string, readonly [title: string, text: string]>> = {
  offline: ["The server does not answer", "It may have been stopped, or the network is gone."],
  unreadable: [
    "The answer cannot be read",
    "It is no JSON: something between the server and this page may have changed it."
  ],
  unauthorized: ["The key opens nothing", "It may have expired, or have been revoked."],
  forbidden: ["This key may not read", "Ask for a key with the scope read."],
  overloaded: ["The server is busy", "It refuses what it cannot answer soon."],
  "storage-unavailable": ["The database does not answer", "The log of the server says why."],
  "session-not-found": ["There is no such session", "It may have been erased."],
  "event-not-found": ["There is no such call", "It may have been erased."],
  "event-damaged": ["This call is damaged", "What is stored is not what was recorded: tachograph verify says more."],
  "agent-not-found": ["There is no such agent", "It has recorded nothing here."],
  "agent-version-not-found": ["There is no such version", "It has recorded nothing here."],
  "person-not-found": ["There is no such person", "They may have been erased."],
  "fingerprint-not-found": ["There is no such runtime", "Nothing was recorded with it here."],
  "shared-text-not-found": ["There is no such text", "No call that is kept has it as a text of its own."],
  "shared-text-damaged": [
    "This text is damaged",
    "What is stored is not what was recorded: tachograph verify says more."
  ],
  "not-found": ["There is nothing here", "The server does not know this address."]
}

interface Props extends Whole {
  readonly error: ServerError
  readonly again?: () => void
  /** What else may be done. */
  readonly children?: ComponentChildren
}

/** Where no key was sent. */
const withoutKey: typeof texts = {
  forbidden: ["You may not read here", "Who runs the server says who may: the scope read is needed."]
}

const textsOf = (error: ServerError): readonly [title: string, text: string] =>
  (Key.get() === undefined ? withoutKey[error.type] : undefined) ??
  texts[error.type] ?? ["This did not work", `The server answered ${error.status} ${error.type}.`]

export const titleOf = (error: ServerError): string => textsOf(error)[0]

export const OtherKey = () => (
  <button type="button" onClick={() => Key.set(undefined)}>
    {Key.get() === undefined ? "How to sign in" : "Enter another key"}
  </button>
)

export const Failed = ({ again, children, error, isWhole = false }: Props) => {
  const [title, text] = textsOf(error)
  return (
    <div class="state" role="alert">
      <Title title={title} isWhole={isWhole} />
      <p>
        <Plain text={text} />
      </p>
      {again !== undefined && (
        <button type="button" onClick={again}>
          Try again
        </button>
      )}{" "}
      {children ?? (error.type === "forbidden" && Key.get() !== undefined && <OtherKey />)}
    </div>
  )
}
