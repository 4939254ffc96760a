/** `#/fingerprints`: the fingerprints of the programs that recorded. */
import { useEffect, useRef } from "preact/hooks"
import { useSelection } from "../../keyboard/useSelection.ts"
import { More } from "../../parts/More.tsx"
import { Empty, Failed, Loading } from "../../parts/States.tsx"
import * as Route from "../../route/Route.ts"
import { api } from "../../server/Client.ts"
import type { Fingerprint } from "../../server/Types.ts"
import { usePages } from "../../server/usePages.ts"
import { plain } from "../../text/Hidden.ts"
import { Plain } from "../../text/Plain.tsx"
import * as Format from "../../text/Format.ts"

const read = async (cursor: string | null, signal: AbortSignal) => {
  const page = await api.listFingerprints({ cursor: cursor ?? undefined }, { signal })
  return { rows: page.fingerprints, next: page.next_cursor }
}

const source = { read, idOf: ({ fingerprint_id }: Fingerprint) => fingerprint_id }

export const FingerprintsPage = () => {
  const pages = usePages("fingerprints", source, "")
  const list = useRef<HTMLTableSectionElement>(null)
  const selection = useSelection(pages.rows.map(source.idOf), list, (index) =>
    Route.go(Route.to(["fingerprints", pages.rows[index]!.fingerprint_id]))
  )
  useEffect(() => void (document.title = "Fingerprints · Tachograph"), [])
  const isEmpty = pages.rows.length === 0
  return (
    <section class="page">
      <div class="page-head">
        <h1>Fingerprints</h1>
      </div>
      {pages.error !== undefined && isEmpty && <Failed error={pages.error} again={pages.again} />}
      {isEmpty && pages.isLoading && <Loading what="the fingerprints" />}
      {isEmpty && !pages.isLoading && pages.error === undefined && <Empty title="No program has registered yet" />}
      {!isEmpty && (
        <div class="table-scroll" tabIndex={0} role="region" aria-label="Fingerprints">
          <table class="rows">
            <thead>
              <tr>
                <th scope="col">Fingerprint</th>
                <th scope="col">Repository</th>
                <th scope="col">Commit</th>
                <th scope="col" class="number">
                  Packages
                </th>
              </tr>
            </thead>
            <tbody ref={list}>
              {pages.rows.map((each, index) => (
                <tr key={each.fingerprint_id} aria-current={index === selection ? "true" : undefined}>
                  <td class="title">
                    <a href={Route.to(["fingerprints", each.fingerprint_id])}>
                      <Plain text={`${each.language} ${each.language_version}, ${each.system}`} />
                    </a>
                    <small class="id">{each.fingerprint_id}</small>
                  </td>
                  <td>
                    <Plain text={each.git_repository_url ?? "–"} />
                  </td>
                  <td>
                    <code title={plain(each.git_commit_hash ?? "")}>
                      <Plain text={each.git_commit_hash?.slice(0, 12) ?? "–"} />
                    </code>
                    <small>
                      <Plain text={each.git_branch ?? ""} />
                    </small>
                  </td>
                  <td class="number">{Format.count(Object.keys(each.all_packages ?? {}).length)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      <More pages={pages} />
    </section>
  )
}
