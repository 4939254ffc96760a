/**
 * The seed of tests that are random: the same in every run, so that a test which fails fails again. `TACHOGRAPH_TEST_SEED=7`
 * sets another one, and `TACHOGRAPH_TEST_SEED=random` draws one, which the titles of the tests and fast-check's errors print.
 */
const given = process.env["TACHOGRAPH_TEST_SEED"] ?? "1"

export const seed: number = given === "random" ? Date.now() % 2 ** 31 : Number(given)

if (!Number.isInteger(seed)) {
  throw new Error(`TACHOGRAPH_TEST_SEED is ${JSON.stringify(given)}: expected a whole number, or random`)
}
