/** Writes dist/, the folder that is deployed, and prints the size of its files. */
import { join } from "node:path"
import { bundleInto, folder, sizes } from "./bundle.ts"

const dist = join(folder, "dist")
await bundleInto(dist)
for (const { gzipped, name, size } of sizes(dist)) {
  console.log(`${name}: ${Math.ceil(size / 1000)} kB, ${Math.ceil(gzipped / 1000)} kB gzipped`)
}
