/** The model that the plugin ships, from predictor/models/built-in.json; made by `npm run ship-model`. */

import { unpackLayer } from './packed-layer.ts';
import type { Model } from './quantile-network.ts';

// biome-ignore format: generated
const PACKED = {"stepEndsSeconds":[1,2,4,6,8,12,18,28,48],"levels":[0.03,0.1,0.25,0.5,0.75,0.9,0.97],"rankCorrelation":0.674,"layers":[{"weights":"[Y[GvfTXZj`]9cX[CEX=_H?WI^=P_]Kp_dCQ=@[\\YWIXOaVUcU@_OYWpZe^v`UXcN_<ZWRS_]`XgCZBYWu>X[YAZRYW[XZa;]dU^S^`StaSSoqFKUZ\\UqM;OXVLYb9X_XXIV[R]?QCbULt\\NM:T[F\\gT\\]Mfbkea^tkZSV\\kBUPNF>NP[gLc","scales":"SUSN^bVUVWFW[Wn"},{"weights":"VY\\T`a\\;bPaehY;WYL\\BT\\TYJb\\Ggo\\il<WQiJKPOeh:QheKYlK=`M[BFHUj^gd]eG^VX<UT:ZYbKKU^RYaI]VVXX_VjbGv^<QQQe^ZEdeX[YkOT\\TC:XN]oXgK<b_KRYXbw=?9WoXueCZUpiNaTVeLhfs[]Da]rMkVlS]Ec","scales":"XW[ZWXZ[\\[[\\Wn"},{"weights":"LI:Wf\\^SckYU\\_\\W^YX]\\YX\\Y[YV[X\\ZXXWZ][\\WWY]ZU\\XX\\XRWXUYUNQZZXRVe^Z_]Z_jedXWZZN]]WZ[WWWYVZYWWUWWYWXMPRWWVXZRMYWX[ZVWWUZa[YXYU[`DGMX[UQOXXYWZUb\\XXYVVXZYZWUWYZ[YVWX^[\\XWVU[XXWWVUUWXXVWVTSSWUSPSQQZVPMY_[WUUSWXZXUTSVUWXWWUVVVWXVUWWVYWUWXWVWVWXYWYXUWWVXXXTUW>@C\\LFIY\\[YX\\^b^[XY\\\\\\][XW[Z[ZZW[ZZ[[\\W[YY_[ZW[ZUUXZXXUVVWVXXWULS]@LQUV^XWcYZX[XX\\V]TVV[U]WPTRXY]WbRNZU^RQRVWaVPVQ^ZhRO\\XfbZYO?;CSXRPW`aYTX[c`[YVXV[YYXXXWZZYXVWXZ\\YXYWWZYWXYXZWW[XTYZ^][XVXYPNHWOIHPMSYPQWWWXXRX]VXVXT[ZXWXXVXYXZWXYZ[\\WTY^[\\]VXXXX^WWZXVZ]tohYhhaRPRXUMVPRVXO[XVVTUXYVWXVVWXWVT[V[WXXW]YZXYUXVXYXYO[\\ZSTYmrrTlfcSLO_TQTVVT[QWXVXUXUXXWXVXWXXYVWVYWZWUYWXXWVXVXXZZVYTWXW\\A;<<LOXifiYWhSX_cYkSO][b_ZRU`[`]YRUOcW]TRXf^I`OUZd]U\\IT[VHJVOXQruv[ggdADCXUPMVOQYRQUTRVYSUWSVVYSWU^_WXXXVRZ`WXWVVXWX[YVYWWVXTRRKFX<CGa]\\W_\\ZUWYX[X[ZYYXZZ[XYXXYYYVVWXXZZUXYXXYZYYXX[ZZ[YYXZ\\\\FXMUcY9c^gm=YP]@C`s(HjNV} bzKeMqmX4b4WA=Mm>xiYmPJf0Nccw]OB","scales":"ZVTNS]USUU^VRj","lag":7}]};

let model: Model | undefined;

/** Unpacks it at the first call. */
export function shippedModel(): Model {
  model ??= { ...PACKED, layers: PACKED.layers.map(unpackLayer) };
  return model;
}
