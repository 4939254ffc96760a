/** Leads to this call beside another one: that which it continues, that which it retries or which retries it, or any other. */
import { Fragment } from "preact"
import * as Route from "../../route/Route.ts"
import type { CallState } from "../../server/useCall.ts"

export const CompareWith = ({ state: { call } }: { readonly state: CallState }) => {
  const id = call.event_id
  const to = (a: string | null | undefined, b: string | null | undefined) =>
    typeof a === "string" && typeof b === "string" ? Route.to(["diff", "calls"], { a, b }) : undefined
  const others: ReadonlyArray<readonly [name: string, href: string | undefined]> = [
    ["the call before", call.retry_of === null ? to(call.parent_event_id, id) : undefined],
    ["the failed call", to(call.retry_of, id)],
    ["its retry", to(id, call.retried_by)],
    ["another…", Route.to(["diff", "calls"], { a: id })]
  ]
  const links = others.flatMap(([name, href]) => (href === undefined ? [] : [{ name, href }]))
  return (
    <p class="compare-with">
      Compare with{" "}
      {links.map(({ href, name }, index) => (
        <Fragment key={name}>
          {index > 0 && " · "}
          <a href={href}>{name}</a>
        </Fragment>
      ))}
    </p>
  )
}
