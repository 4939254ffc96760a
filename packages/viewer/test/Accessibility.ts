/** What axe-core finds wrong on a page. It runs under the page's own Content Security Policy. */
import axe from "axe-core"
import type { Page } from "playwright-core"

interface Found {
  readonly id: string
  readonly nodes: ReadonlyArray<{ readonly html: string; readonly failureSummary?: string }>
}

/** The rules of axe-core about colours that it applies by itself. */
const colorRules = ["color-contrast", "link-in-text-block"]

/**
 * One line for each violation of WCAG 2.2 A and AA, and of best practices. With `colors`, only of the rules about colours, which
 * are all that another theme can break.
 */
export const problemsOf = async (page: Page, rules: "all" | "colors" = "all"): Promise<ReadonlyArray<string>> => {
  if (!(await page.evaluate(() => "axe" in globalThis))) await page.evaluate(axe.source)
  const found = await page.evaluate(
    async (options) => {
      const { axe } = globalThis as unknown as {
        readonly axe: { readonly run: (options: object) => Promise<{ violations: unknown }> }
      }
      return (await axe.run(options)).violations
    },
    {
      resultTypes: ["violations"],
      ...(rules === "all" ? {} : { runOnly: { type: "rule", values: colorRules } })
    }
  )
  return (found as ReadonlyArray<Found>).flatMap(({ id, nodes }) =>
    nodes.map(({ failureSummary, html }) => `${id}: ${html.slice(0, 160)} ${failureSummary ?? ""}`)
  )
}
