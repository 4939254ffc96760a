/** `#/fingerprints/{id}`: the fingerprint of a client. */
import { useEffect } from "preact/hooks"
import { PageHelp } from "../../help/PageHelp.tsx"
import { Time } from "../../parts/Facts.tsx"
import { Failed, Loading } from "../../parts/States.tsx"
import type { PageProps } from "../../route/PageProps.ts"
import * as Route from "../../route/Route.ts"
import { api } from "../../server/Client.ts"
import { useAnswer } from "../../server/useAnswer.ts"
import * as Names from "../../text/Names.ts"
import { Plain } from "../../text/Plain.tsx"
import { safeHref } from "../../text/Links.ts"
import { Packages } from "./Packages.tsx"
import { Users } from "./Users.tsx"

const Fact = ({ value }: { readonly value: string }) => {
  const href = safeHref(value)
  if (href === undefined) return <Plain text={value} />
  return (
    <a href={href} target="_blank" rel="noopener noreferrer">
      <Plain text={value} />
    </a>
  )
}

export const FingerprintPage = ({ query, rest }: PageProps) => {
  const id = rest[0]!
  const { again, error, value } = useAnswer((signal) => api.getFingerprint({ fingerprint_id: id }, { signal }), id)
  useEffect(() => void (document.title = "Runtime · Tachograph"), [])
  if (error !== undefined) return <Failed isWhole error={error} again={again} />
  if (value === undefined) return <Loading what="the runtime" />
  const { all_packages: _packages, fingerprint_id: _id, ...facts } = value
  return (
    <section class="page">
      <div class="page-head">
        <h1>
          Runtime <Plain as="code" text={id} />
        </h1>
        <PageHelp />
        <p>
          <a href={Route.to(["fingerprints"])}>All runtimes</a>
        </p>
      </div>
      <dl class="facts narrow">
        {Object.entries(facts).map(([name, fact]) =>
          fact === null ? null : (
            <div key={name}>
              <dt>{Names.ofField(name)}</dt>
              <dd>{name === "created_at" ? <Time at={String(fact)} /> : <Fact value={String(fact)} />}</dd>
            </div>
          )
        )}
      </dl>
      <h2>Used by</h2>
      <Users fingerprint={id} />
      <Packages fingerprint={value} other={query.get("with") ?? ""} />
    </section>
  )
}
