/** Writes dist/, which is what is deployed, and prints what it weighs. */
import { join } from "node:path"
import { bundleInto, folder, weigh } from "./bundle.ts"

const dist = join(folder, "dist")
await bundleInto(dist)
for (const { gzipped, name, size } of weigh(dist)) {
  console.log(`${name}: ${Math.ceil(size / 1000)} kB, ${Math.ceil(gzipped / 1000)} kB gzipped`)
}
