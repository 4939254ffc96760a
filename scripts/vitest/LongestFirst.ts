/**
 * Begins with the files that take longest, so that the run does not wait for one of them at its end. Vitest goes by the sizes of
 * files where it does not know their times, as in a fresh clone: a file of a few lines that runs a whole suite would be the last.
 */
import { readFileSync } from "node:fs"
import { BaseSequencer, type TestSpecification } from "vitest/node"

/** What runs a suite, or starts servers. */
const takesLong = /Suite\.run\(|\b(?:serve|serveAndRecord|startPostgres)\(/

const isLong = ({ moduleId }: TestSpecification): boolean => takesLong.test(readFileSync(moduleId, "utf8"))

export class LongestFirst extends BaseSequencer {
  override async sort(files: ReadonlyArray<TestSpecification>): Promise<Array<TestSpecification>> {
    const sorted = await super.sort([...files])
    // The files of a project stay together: a worker has one project at a time.
    return Array.from(Map.groupBy(sorted, ({ project }) => project).values()).flatMap((ofProject) => {
      const { long = [], short = [] } = Object.groupBy(ofProject, (file) => (isLong(file) ? "long" : "short"))
      return [...long, ...short]
    })
  }
}
