/** What `tachograph doctor` finds. */
import { runInProcess } from "./CommandLine.ts"

export interface Found {
  readonly check: string
  readonly state: "ok" | "warning" | "problem"
  readonly says: string
  readonly mend?: string
  readonly see?: string
}

/** The findings by check, and the exit code. */
export const look = async (args: ReadonlyArray<string>, env: Readonly<Record<string, string>> = {}) => {
  const { code, stderr, stdout } = await runInProcess(["doctor", "--json", ...args], env)
  return { code, stderr, found: parse(stdout) }
}

export const parse = (stdout: string): Readonly<Record<string, Found>> =>
  Object.fromEntries(
    stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Found)
      .map((finding) => [finding.check, finding])
  )

/** The names of the checks that found something of this state. */
export const namesOf = (found: Readonly<Record<string, Found>>, state: Found["state"]): ReadonlyArray<string> =>
  Object.values(found)
    .filter((finding) => finding.state === state)
    .map(({ check }) => check)

/** What is wrong, in words. */
export const faultsOf = (found: Readonly<Record<string, Found>>): ReadonlyArray<string> =>
  Object.values(found)
    .filter(({ state }) => state !== "ok")
    .map(({ check, says, state }) => `${state} ${check}: ${says}`)
