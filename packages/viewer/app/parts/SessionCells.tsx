/** What every table of sessions says of one. */
import type { ComponentChildren } from "preact"
import type { Session } from "../server/Types.ts"
import { FailedCount } from "./Failures.tsx"
import * as Format from "../text/Format.ts"
import { Plain } from "../text/Plain.tsx"
import * as Words from "../text/Words.ts"

interface Props {
  readonly session: Session
}

interface TitleProps extends Props {
  /** Where it leads to. */
  readonly to: string
  /** Stands before it. */
  readonly children?: ComponentChildren
}

export const SessionTitle = ({ children, session: { session, title }, to }: TitleProps) => (
  <>
    <a href={to}>
      {children}
      {title === null ? <i>No words of a user</i> : <Plain text={Words.title(title)} />}
    </a>
    <Plain as="small" class="id" text={session} />
  </>
)

/** How many calls it has, and how many of them failed. */
export const CallsOf = ({ failures, session: { errors, events } }: Props & { readonly failures: string }) => (
  <>
    {Format.count(events)}
    {errors > 0 && (
      <small>
        <FailedCount isNamed count={errors} to={failures} />
      </small>
    )}
  </>
)
