/** What axe-core finds wrong on a page. It runs under the page's own Content Security Policy. */
import axe from "axe-core"
import type { Page } from "playwright-core"

interface Found {
  readonly id: string
  readonly nodes: ReadonlyArray<{ readonly html: string; readonly failureSummary?: string }>
}

/** One line for each violation of WCAG 2.2 A and AA, and of best practices. */
export const problemsOf = async (page: Page): Promise<ReadonlyArray<string>> => {
  await page.evaluate(axe.source)
  const found = await page.evaluate(async () => {
    const { axe } = globalThis as unknown as { readonly axe: { readonly run: () => Promise<{ violations: unknown }> } }
    return (await axe.run()).violations
  })
  return (found as ReadonlyArray<Found>).flatMap(({ id, nodes }) =>
    nodes.map(({ failureSummary, html }) => `${id}: ${html.slice(0, 160)} ${failureSummary ?? ""}`)
  )
}
