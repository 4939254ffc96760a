/**
 * Bundles the server for `npm start`: it and its threads start from a few files, in a third of the time. The files of earlier bundles stay,
 * because a server that runs loads some of them later.
 */
import { bundle, path, server } from "./bundle/Bundle.ts"

await bundle(path("node_modules/.cache/tachograph"), server)
