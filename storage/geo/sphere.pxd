# inline only
from libc.math cimport asin, cos, fabs, sin, sqrt


cdef inline double _radians(double degrees) noexcept:
    return degrees * 0.017453292519943295


cdef inline double latitude_distance(double one, double other) noexcept:
    return 6372797.560856 * fabs(_radians(other) - _radians(one))


cdef inline double distance(
    double one_longitude, double one_latitude, double other_longitude, double other_latitude
) noexcept:
    cdef double wide = sin((_radians(other_longitude) - _radians(one_longitude)) / 2)
    cdef double one, other, high, share
    if wide == 0:
        return latitude_distance(one_latitude, other_latitude)
    one = _radians(one_latitude)
    other = _radians(other_latitude)
    high = sin((other - one) / 2)
    share = sqrt(high * high + cos(one) * cos(other) * wide * wide)
    return 2.0 * 6372797.560856 * asin(share if share < 1.0 else 1.0)


cdef inline double degrees_north(double height) noexcept:
    return height / 6372797.560856 / 0.017453292519943295


cdef inline double degrees_east(double width, double latitude) noexcept:
    return width / 6372797.560856 / cos(_radians(latitude)) / 0.017453292519943295
