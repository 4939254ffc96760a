/** `#/fingerprints`: the fingerprints of the programs that recorded. */
import { Link } from "../../parts/Link.tsx"
import { ListPage } from "../../parts/ListPage.tsx"
import { Empty } from "../../parts/States.tsx"
import { type Column, number } from "../../parts/Table.tsx"
import * as Route from "../../route/Route.ts"
import { api } from "../../server/Client.ts"
import type { Fingerprint } from "../../server/Types.ts"
import * as Format from "../../text/Format.ts"
import { plain } from "../../text/Hidden.ts"
import * as Names from "../../text/Names.ts"
import { Plain } from "../../text/Plain.tsx"

const read = async (cursor: string | null, signal: AbortSignal) => {
  const page = await api.listFingerprints({ cursor: cursor ?? undefined }, { signal })
  return { rows: page.fingerprints, next: page.next_cursor }
}

const source = { read, idOf: ({ fingerprint_id }: Fingerprint) => fingerprint_id }

const placeOf = (id: string): string => Route.to(["fingerprints", id])

const columns: ReadonlyArray<Column<Fingerprint>> = [
  {
    title: "Runtime",
    class: "title",
    of: (runtime) => (
      <>
        <Link to={placeOf(runtime.fingerprint_id)} text={Names.ofRuntime(runtime)} />
        <small class="id">{runtime.fingerprint_id}</small>
      </>
    )
  },
  { title: "Repository", of: ({ git_repository_url }) => <Plain text={git_repository_url ?? "–"} /> },
  {
    title: "Commit",
    of: ({ git_branch, git_commit_hash }) => (
      <>
        <Plain as="code" title={plain(git_commit_hash ?? "")} text={git_commit_hash?.slice(0, 12) ?? "–"} />
        <Plain as="small" text={git_branch ?? ""} />
      </>
    )
  },
  number("Packages", ({ all_packages }) => Format.count(Object.keys(all_packages ?? {}).length))
]

export const FingerprintsPage = () => (
  <ListPage
    title="Runtimes"
    name="runtimes"
    open={(id) => Route.go(placeOf(id))}
    empty={<Empty title="No program has registered yet" />}
    {...{ source, columns }}
  />
)
