/** The model that the plugin ships, from predictor/models/built-in.json; made by `npm run ship-model`. */

import { unpackModel } from './model-file.ts';
import type { Model } from './quantile-forecaster.ts';

// biome-ignore format: generated
const FILE = {"stepEndsSeconds":[1,2,4,6,8,12,18,28,48],"levels":[0.03,0.1,0.25,0.5,0.75,0.9,0.97],"rankCorrelation":0.674,"layers":[{"weights":"igiO9tbfhxnkAqfiKMfEmPGeQlEXmkS3mrKYEHijgeQfWodcqcHmWge3hsl9ncfqVmDheZamknfuKhJge8FfigIhZgeifhoCkrclalna7oaa24NSchjc4UCWfdTgpAfmffQdiZkGYKpcT7jVUBbiNjubjkUtpysol7yhadjyJcXVNFVXiuTq","scales":"PRPKaeSRSTCTXTq"},{"weights":"dgjbnojCpXosvgCegTjJbjbgRpjOu2jwzDeYwRSXWsvBYvsSgzSEnUiJNPcxlurksOldfDcbBhgpSSclZgoQkddffmdxpO9lDYYYslhMrsfigyWbjbKBfVk2fuSDpmSZgfp+EGAe2f8sKhc3wVobdsTvt6ikLok5UydzakMq","scales":"UTXWTUWXYXXYTq"},{"weights":"TQBetjlObUfqnsSaagqswTaehttuWaijtttYflnssudhirssydbhrptvTUjtpntslhmkhm+ytmjjo03yllmnz2zjnnmyzyiommnrshnkmplhimkprjghjmyukgigp6LOUficYCOUgheVMSUgicTMUVihZSNWYjfYSTZcjeWPWZcidUMTYcibTKPTXhYOCaYYhdXUbfbgaUPafdgXQKYccgWPHWaafWNEVZYgVKDVYWfTJDWXXfQICUXXfMFBFHKjTNQGLNkTRWQRQkUVaUWTkTYcXYVjWaeabZiZbfhebhcdceedhcaacdbhcZXTakHTYcRgkGeZeRjkGiXjNhiJfciFdcJghhPXSLdnbIRQKmlTGKWM2fKKKkW4gBGCKafZXFKTbbZaQSWcZZYTTXcZZXVVYcXYXXZZcYXWZaYcZXYYZbcVYaeeecTYbXVPeWQPPKKfOJOOJKfIJTMJIfEMVMIIfCMWMKHfDOZQJDgJRdVHDgJRjUGFgHTo72vgvvo1upgskmtongjnmrmjdjokqmhbiojoikZlnjohpannklhnaonlckrcjjm055bztqvtwivmmtrslolmrrplllmqrnlklmrpmjlkoqmnilknomlilmpmnhhlltICDDTWfZQUESmaZXfFlhReapMnbOmdxRoVLdowWkPLruhebMN3zeiMIQ1jQgDIJ589iuuriooirmggfhjlfdcZfkgccXXdlbbZdeclbbXXgkkbaVVgjkebTWfiieXNZSNfDKOiXReKOQfWSeNOThXTePQWhYTeQRXfWSeQTZcWTeQUbdXTeTWdgYUeVahNfUcqgAYljxPhzQqLcX8DA8Ba8ENivxnxd83vNxNclckiXttmxcUlFjx877q4ab","scales":"WSQKPZRPRRaSOm"}]};

let model: Model | undefined;

/** Unpacks the model at the first call. */
export function shippedModel(): Model {
  model ||= unpackModel(FILE);
  return model;
}
