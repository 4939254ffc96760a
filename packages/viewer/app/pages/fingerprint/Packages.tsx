/** The packages of a fingerprint, alone or compared with those of another one. */
import { PackagesDiff } from "../../diff/PackagesDiff.tsx"
import * as Route from "../../route/Route.ts"
import * as Lists from "../../server/Lists.ts"
import type { Fingerprint } from "../../server/Types.ts"
import { useAnswer } from "../../server/useAnswer.ts"
import { plain } from "../../text/Hidden.ts"
import * as Names from "../../text/Names.ts"
import { Plain } from "../../text/Plain.tsx"

interface Props {
  readonly fingerprint: Fingerprint
  /** The id of the fingerprint to compare with, empty for none. */
  readonly other: string
}

const nameOf = (runtime: Fingerprint): string =>
  [runtime.fingerprint_id.slice(0, 8), Names.ofRuntime(runtime), runtime.git_commit_hash?.slice(0, 12)]
    .filter(Boolean)
    .join(" · ")

export const Packages = ({ fingerprint, other }: Props) => {
  const { value } = useAnswer(Lists.fingerprints, "fingerprints")
  const others = value?.filter(({ fingerprint_id }) => fingerprint_id !== fingerprint.fingerprint_id) ?? []
  const compared = others.find(({ fingerprint_id }) => fingerprint_id === other)
  const packages = fingerprint.all_packages ?? {}
  return (
    <section>
      <h2>Packages</h2>
      {others.length > 0 && (
        <label class="choices">
          <span>Compare with</span>
          <select value={other} onChange={({ currentTarget }) => Route.amend({ with: currentTarget.value }, "go")}>
            <option value="">no other</option>
            {others.map((each) => (
              <option key={each.fingerprint_id} value={each.fingerprint_id}>
                {plain(nameOf(each))}
              </option>
            ))}
          </select>
        </label>
      )}
      {compared === undefined ? (
        <PackageList packages={packages} />
      ) : (
        <PackagesDiff before={compared.all_packages ?? {}} after={packages} names={["The other", "This one"]} />
      )}
    </section>
  )
}

type Versions = Readonly<Record<string, string>>

const PackageList = ({ packages }: { readonly packages: Versions }) => {
  const entries = Object.entries(packages)
  if (entries.length === 0) return <p class="hint">None were registered.</p>
  return (
    <dl class="facts narrow">
      {entries.map(([name, version]) => (
        <div key={name}>
          <Plain as="dt" text={name} />
          <Plain as="dd" text={version} />
        </div>
      ))}
    </dl>
  )
}
