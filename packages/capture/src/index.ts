/** Which requests are calls of models. The other modules are imported one by one. */
export { modelInUrl, recognise } from "./Recognise.ts"
