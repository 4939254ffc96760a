/** What a fuzzer has seen. */

/** Wrong results that are kept; more are only counted. */
const maxKept = 50

export class Tally {
  readonly counts = new Map<string, number>()
  /** What is wrong, and in which round. */
  readonly wrong: Array<{ readonly round: number; readonly text: string }> = []
  wrongs = 0

  count(name: string, by = 1): void {
    this.counts.set(name, (this.counts.get(name) ?? 0) + by)
  }

  addWrong(round: number, text: string): void {
    this.wrongs++
    if (this.wrong.length < maxKept) this.wrong.push({ round, text })
  }

  of(name: string): number {
    return this.counts.get(name) ?? 0
  }
}
