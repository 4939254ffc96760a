/** `#/shared/{sha256}`: a long text that calls share, such as a system prompt, by the SHA-256 of its JSON text. */
import { useEffect } from "preact/hooks"
import { PageHelp } from "../../help/PageHelp.tsx"
import { useKeys } from "../../keyboard/Keys.ts"
import { Exact } from "../../parts/bytes/Exact.tsx"
import type { PageProps } from "../../route/PageProps.ts"
import * as Copy from "../../text/Copy.ts"

export const SharedPage = ({ rest }: PageProps) => {
  const name = rest[0]!
  const parts = ["shared", name]
  useEffect(() => void (document.title = "Shared text · Tachograph"), [])
  useKeys([
    { keys: "c i", does: "Copy the SHA-256", run: () => Copy.text(name) },
    { keys: "c l", does: "Copy the link", run: () => Copy.text(location.href) },
    { keys: "c u", does: "Copy a curl command", run: () => Copy.curl(parts) }
  ])
  return (
    <section class="page whole">
      <div class="page-head">
        <h1>Shared text</h1>
        <PageHelp />
        <p class="hint">Stored once for all calls that have it, as it was sent.</p>
      </div>
      <Exact parts={parts} />
    </section>
  )
}
