/** `#/record`: how to record a program, for those who have recorded already. */
import { useEffect } from "preact/hooks"
import { PageHelp } from "../../help/PageHelp.tsx"
import { Record } from "../../record/Record.tsx"
import type { PageProps } from "../../route/PageProps.ts"

export const RecordPage = ({ me, query }: PageProps) => {
  useEffect(() => void (document.title = "Record a program · Tachograph"), [])
  return (
    <section class="page">
      <div class="page-head">
        <h1>Record a program</h1>
        <PageHelp />
      </div>
      <Record me={me} chosen={query.get("way")} />
    </section>
  )
}
